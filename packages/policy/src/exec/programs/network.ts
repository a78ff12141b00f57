/** Programs that speak to other machines. */
import type { Programs } from "./program.ts";

export const network: Programs = {
  curl: {
    is: ["namesFiles", "otherO"],
    options:
      "X:H:d:F:T:o:u:A:b:c:e:K:m:w:x:E:C:D:r:t:y:Y:z:U:P:Q:h:fsSLkvIiOgGjJlnNpqRaB0123Z46# data= data-raw= data-binary= data-urlencode= data-ascii= json= form= form-string= upload-file= header= request= output= user= user-agent= cookie= cookie-jar= referer= config= max-time= connect-timeout= write-out= proxy= preproxy= socks4= socks4a= cert= key= cacert= capath= continue-at= dump-header= range= retry= retry-delay= retry-max-time= url= url-query= resolve= connect-to= interface= limit-rate= max-redirs= output-dir= proto= proto-redir= socks5= socks5-hostname= tlsv1.2 tls-max= ciphers= unix-socket= abstract-unix-socket= netrc-file= netrc aws-sigv4= oauth2-bearer= variable= expand-data= expand-url= dns-servers= doh-url= mail-from= mail-rcpt= quote= ftp-port= speed-limit= speed-time= time-cond= trace= trace-ascii= stderr= create-dirs fail silent show-error location insecure verbose head include remote-name remote-header-name remote-name-all compressed get fail-with-body progress-bar parallel globoff no-buffer location-trusted ipv4 ipv6 http1.1 http2 path-as-is no-progress-meter styled-output retry-all-errors retry-connrefused",
    rules: ["curl"],
  },
  wget: {
    is: ["namesFiles", "otherO"],
    options:
      "O:o:a:P:i:e:t:T:w:Q:U:l:A:R:D:I:X:B:qcnrkKpEHLNSvdbxF46 post-file= post-data= body-file= body-data= config= output-document= output-file= append-output= directory-prefix= input-file= execute= header= user= password= user-agent= referer= method= tries= timeout= wait= use-askpass= quiet continue no-check-certificate recursive level= accept= reject= no-verbose show-progress progress= content-disposition mirror no-parent timestamping page-requisites convert-links spider secure-protocol= https-only ca-certificate= load-cookies= save-cookies= no-clobber inet4-only",
    rules: ["wget"],
  },
  "http https xh xhs curlie lynx w3m links elinks axel fetch lwp-request lwp-download GET POST HEAD httpie open xdg-open sensible-browser google-chrome wget2":
    { rules: ["fetchOther"] },
  "firefox chromium": { is: ["viewer"], rules: ["fetchOther"] },
  aria2c: {
    options:
      "d:o:i:x:s:j: on-download-complete= on-download-start= on-download-pause= on-download-stop= on-download-error= on-bt-download-complete= dir= out=",
    runs: "on-download-complete on-download-start on-download-pause on-download-stop on-download-error",
    rules: ["fetchOther"],
  },
  "yt-dlp": {
    options: "o:f:P:x exec= exec-before-download= output= format= downloader= external-downloader= netrc-cmd=",
    code: "exec exec-before-download netrc-cmd",
  },
  getent: { rules: ["getent"] },
  "dig nslookup host drill ping ping6 traceroute tracepath mtr resolvectl systemd-resolve fping kdig doggo dog whois": {
    rules: ["resolveName"],
  },
  "nc ncat netcat": {
    is: ["namesFiles"],
    options:
      "e:c:g:G:i:I:o:O:p:P:q:s:T:V:w:W:x:X:m:M:zvlnurkdtUChDFSNbZ46R exec= sh-exec= lua-exec= source-port= source= wait= proxy= proxy-type= proxy-auth= output= hex-dump= idle-timeout= listen keep-open zero verbose udp ssl send-only recv-only allow= deny= broker chat no-shutdown",
    rules: ["netcat"],
  },
  "nc.traditional nc.openbsd": { like: "nc" },
  socat: { is: ["namesFiles"], rules: ["socat"] },
  "telnet rlogin": { rules: ["telnet"] },
  openssl: { prints: "openssl", rules: ["openssl"] },
  ssh: {
    is: ["namesFiles", "otherO", "viewer"],
    options: "1246AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:",
    stopsAtOperand: true,
    rules: ["ssh"],
  },
  autossh: { like: "ssh", is: ["otherO"] },
  mosh: { like: "ssh" },
  "scp sftp": { is: ["namesFiles", "otherO"], options: "346ABCOpqRrsTvc:D:F:i:J:l:o:P:S:X:b:a", rules: ["copyRemote"] },
  "mail mailx mutt sendmail msmtp swaks ftp tftp lftp ncftp ncftpput smbclient sendemail s-nail wormhole croc transfer.sh rsh rcp cadaver":
    { rules: ["sendAll"] },
  "ftp-client": { rules: ["clientCode"] },
  "ngrok cloudflared localtunnel lt bore frpc chisel zrok pagekite tailscale": {
    does: "high exfiltration",
    says: "$n makes this machine reachable from outside.",
    min: 1,
  },
  "ttyd gotty tmate shellinaboxd wetty pwncat rcat ztcp": {
    does: "high reverse_shell",
    says: "$n gives others a shell.",
  },
  // It is also a plain client.
  websocat: { does: "high reverse_shell", says: "$n gives others a shell.", arg: /^(?:cmd|sh-c|exec):/ },
  logger: { rules: ["logger"] },
  tcpdump: { options: "z:w:r:i:c:C:G:W:s:nvXAe", runs: "z", writes: "w" },
  nmcli: {
    secrets: [{ option: /^(?:-s|--show-secrets)$/ }, { words: /(?:^| )dev(?:ice)? wifi show-password(?: |$)/ }],
  },
  wg: { secrets: [{ words: /(?:^| )(?:showconf|show \S+ (?:private-key|dump))(?: |$)/ }] },
};
